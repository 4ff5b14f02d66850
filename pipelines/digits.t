# Handwritten digits: the mean image of each class is computed from the first 1000 of 1797 images,
# and each of the other 797 gets the class with the nearest mean.
const images = load("digits.npz", "images")          # u8 [1797, 8, 8], grey values 0 to 16
const labels = load("digits.npz", "labels")          # u8 [1797]

x = f32(images).reshape(1797, 64) / 16
member = one_hot(labels[:1000], 10)                  # [1000, 10]
centroid = (member.T @ x[:1000]) / member.sum(axis=0)[:, none]
distance = sum((x[1000:, none] - centroid) ** 2, axis=-1)   # [797, 10]
guess = argmin(distance, axis=1)

output accuracy = mean(f32(guess == i64(labels[1000:])))
output guess, centroid
