//! A pool of reusable memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects that are expensive to grow, reused.
#[derive(Debug)]
pub(crate) struct Pool<S> {
    idle: Mutex<Vec<S>>,
}

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
        }
    }
}

impl<S: Default> Pool<S> {
    /// The idle ones. A panic elsewhere can't have left them half done: they
    /// are only pushed and popped under the lock.
    fn idle(&self) -> MutexGuard<'_, Vec<S>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `count` objects, in any order.
    pub(crate) fn take(&self, count: usize) -> Vec<S> {
        let mut idle = self.idle();
        let rest = idle.len().saturating_sub(count);
        let mut taken = idle.split_off(rest);
        taken.resize_with(count, S::default);
        taken
    }

    pub(crate) fn put_back(&self, objects: Vec<S>) {
        self.idle().extend(objects);
    }

    /// Borrows one object, which returns to the pool when dropped.
    pub(crate) fn borrow_one(&self) -> Borrowed<'_, S> {
        let object = self.idle().pop().unwrap_or_default();
        Borrowed {
            pool: self,
            object: Some(object),
        }
    }
}

/// An object borrowed from a pool.
pub(crate) struct Borrowed<'a, S: Default> {
    pool: &'a Pool<S>,
    object: Option<S>,
}

impl<S: Default> Borrowed<'_, S> {
    pub(crate) fn get(&mut self) -> &mut S {
        self.object.get_or_insert_with(S::default)
    }
}

impl<S: Default> Drop for Borrowed<'_, S> {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            self.pool.idle().push(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pool;

    #[test]
    fn returned_memory_is_reused() {
        let pool: Pool<Vec<u8>> = Pool::default();
        let mut two = pool.take(2);
        two[0].push(7);
        pool.put_back(two);
        assert_eq!(pool.take(3).iter().filter(|object| !object.is_empty()).count(), 1);

        pool.borrow_one().get().push(9);
        assert_eq!(*pool.borrow_one().get(), [9]);
        assert_eq!(pool.take(1), [[9]]);
    }
}
