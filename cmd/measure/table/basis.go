package table

import (
	"cmp"
	"math"
	"slices"
)

// principal gives the keep directions in which vectors lie, the widest first,
// as rows of teacherDim. Nothing is taken off before: it is dot products with
// the origin in its place that shall survive.
func principal(vectors []float32, keep int) []float64 {
	const d = teacherDim
	m := make([]float64, d*d)
	for at := 0; at < len(vectors); at += d {
		v := vectors[at : at+d]
		for i, x := range v {
			row := m[i*d : (i+1)*d]
			for j := i; j < d; j++ {
				row[j] += float64(float64(x) * float64(v[j]))
			}
		}
	}
	for i := range d {
		for j := range i {
			m[i*d+j] = m[j*d+i]
		}
	}
	values, axes := jacobi(m, d)
	order := make([]int, d)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	basis := make([]float64, 0, keep*d)
	for _, k := range order[:keep] {
		basis = append(basis, oriented(axes[k*d:(k+1)*d])...)
	}
	return basis
}

// oriented turns an axis so that its largest value is positive: an eigenvector
// has no sign of its own, and the table shall not depend on rounding.
func oriented(axis []float64) []float64 {
	most := slices.MaxFunc(axis, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	out := slices.Clone(axis)
	if most < 0 {
		for i := range out {
			out[i] = -out[i]
		}
	}
	return out
}

// jacobi gives the eigenvalues and, as rows, the eigenvectors of a symmetric
// matrix, which it overwrites: the cyclic method of Jacobi, Golub and Van Loan,
// Matrix Computations, 8.5.
func jacobi(m []float64, d int) (values, axes []float64) {
	axes = make([]float64, d*d)
	for i := range d {
		axes[i*d+i] = 1
	}
	for range 30 {
		off, all := 0.0, 0.0
		for i, x := range m {
			all += x * x
			if i/d != i%d {
				off += x * x
			}
		}
		if off <= 1e-22*all {
			break
		}
		for p := range d {
			for q := p + 1; q < d; q++ {
				rotate(m, axes, d, p, q)
			}
		}
	}
	values = make([]float64, d)
	for i := range values {
		values[i] = m[i*d+i]
	}
	return values, axes
}

// rotate makes m[p][q] zero.
func rotate(m, axes []float64, d, p, q int) {
	if m[p*d+q] == 0 {
		return
	}
	theta := (m[q*d+q] - m[p*d+p]) / (2 * m[p*d+q])
	t := math.Copysign(1, theta) / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range d {
		a, b := m[k*d+p], m[k*d+q]
		m[k*d+p], m[k*d+q] = c*a-s*b, s*a+c*b
	}
	for k := range d {
		a, b := m[p*d+k], m[q*d+k]
		m[p*d+k], m[q*d+k] = c*a-s*b, s*a+c*b
		a, b = axes[p*d+k], axes[q*d+k]
		axes[p*d+k], axes[q*d+k] = c*a-s*b, s*a+c*b
	}
}

// project gives vectors in the basis, dim values each.
func project(vectors []float32, basis []float64) []float32 {
	n := len(vectors) / teacherDim
	out := make([]float32, n*dim)
	for i := range n {
		v := vectors[i*teacherDim : (i+1)*teacherDim]
		for k := range dim {
			axis := basis[k*teacherDim : (k+1)*teacherDim]
			sum := 0.0
			for j, x := range v {
				sum += float64(axis[j] * float64(x))
			}
			out[i*dim+k] = float32(sum)
		}
	}
	return out
}
