package journal

// Waiting is how many calls of Update wait for a leader.
func (l *Log[S, E]) Waiting() int {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return len(l.queue.list)
}
