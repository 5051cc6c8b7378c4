package interop;

/** A lock as the members of the fleet know it. */
interface WorkerLock {
    /** Waits for it; false when that took so long that it may be time to rest. */
    boolean acquire() throws Exception;

    /** Gives back what the calling thread acquired last. */
    void release() throws Exception;

    /** Number of the calling thread's hold; below 0 where the lock does not number them. */
    long sequence();
}
