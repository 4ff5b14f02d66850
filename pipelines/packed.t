# A classifier of handwritten digits, to be packed: the means of the classes (digits.t) are computed from constants
# alone, so what is packed is 10 of them.
const images = load("digits.npz", "images")          # u8 [1797, 8, 8], grey values 0 to 16
const labels = load("digits.npz", "labels")          # u8 [1797]
input image u8[n, 8, 8] where n in 1..1797

x = f32(images[:1000]).reshape(1000, 64) / 16
member = one_hot(labels[:1000], 10)                  # [1000, 10]
centroid = (member.T @ x) / member.sum(axis=0)[:, none]
distance = sum((f32(image).reshape(-1, 1, 64) / 16 - centroid) ** 2, axis=-1)   # [n, 10]
output digit = argmin(distance, axis=1)
