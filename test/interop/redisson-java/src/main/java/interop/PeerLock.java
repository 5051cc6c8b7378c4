package interop;

import org.redisson.api.RLock;

/** A lock as the commands know it. Only the thread that acquired it may release it, as in Redisson. */
interface PeerLock extends WorkerLock {
    /**
     * @param wait in ms; below 0: for ever
     * @param lease in ms; below 0: until it is released, renewed by the watchdog
     * @return whether it was granted
     */
    boolean acquire(long wait, long lease) throws InterruptedException;

    /** One attempt that does not wait; renewed by the watchdog. */
    boolean tryAcquire() throws InterruptedException;

    /** What Redisson calls it. */
    RLock redissonLock();

    @Override
    default boolean acquire() throws InterruptedException {
        return acquire(-1, -1);
    }

    @Override
    default void release() {
        redissonLock().unlock();
    }
}
