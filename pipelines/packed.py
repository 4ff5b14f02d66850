"""Classifies handwritten digits, 64 bytes each on standard input, by libdigit.so."""
import sys

import numpy as np
from digit import digit

image = np.frombuffer(sys.stdin.buffer.read(), np.uint8).reshape(-1, 8, 8)
print(*digit(image=image), sep="\n")
