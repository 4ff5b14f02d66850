# A path for the arm, 32 points on a circle, and the initial angles, the same for each point.
t = f64(arange(32)) * (2 * 3.141592653589793 / 32)
output path = stack(0.5 + 0.1 * cos(t), 0.15 * sin(t), 0.25 + 0 * t, axis=1)
output q = f64([0, 0.5, 0, -1.6, 0, 1.0, 0]) + zeros([32, 7], dtype=f64)
