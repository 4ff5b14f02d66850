# A Gauss–Newton step for a sparse Jacobian: q minus the solution s of J^T J s = J^T r, by conjugate
# gradients with a diagonal preconditioner. The Jacobian's values are ordered by columns, as `jac
# --sparse --pattern` gives them.
input q f64[n, 7] where n in 1..1000
input r f64[n * 7]
input jac_r_q f64[nonzeros] where nonzeros in 1..1000000
input jac_r_q_indptr i32[n * 7 + 1]
input jac_r_q_indices i32[nonzeros]
values = jac_r_q
row = jac_r_q_indices
column = cumsum(scatter(zeros([nonzeros], dtype=i64), jac_r_q_indptr[1:], i64(1), how="add"))
none_yet = zeros([n * 7], dtype=f64)

def times(v) = scatter(none_yet, row, values * v[column], how="add")
def back(u) = scatter(none_yet, column, values * u[row], how="add")

scale = scatter(none_yet, column, values ** 2, how="add")
s = none_yet
left = back(r)
z = left / scale
p = z
rho = sum(left * z)
for i in 1..100 {
	v = times(p)
	alpha = rho / maximum(sum(v * v), 1e-300)
	s = s + alpha * p
	left = left - alpha * back(v)
	z = left / scale
	next = sum(left * z)
	p = z + next / maximum(rho, 1e-300) * p
	rho = next
}
output q = q - s.reshape(n, 7)
