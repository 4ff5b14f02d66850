# What a spectrometer might count, from a seed: two peaks on a background that falls off, and the noise of counting.
input seed u64
x = f64(arange(250)) + 1
clean = 98 * exp(-0.0105 * x) + 100 * exp(-((x - 67) / 24) ** 2) + 72 * exp(-((x - 180) / 19) ** 2)
output x, y = clean + sqrt(clean) * 0.25 * randn([250], seed, dtype=f64)
