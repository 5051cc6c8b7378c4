package interop;

import java.util.Collection;

/** A lock as the commands know it. Only the thread that acquired it may release it, as in Curator. */
interface PeerLock extends WorkerLock {
    /**
     * @param wait in ms; below 0: for ever
     * @return whether it was granted
     */
    boolean acquire(long wait, int permits) throws Exception;

    @Override
    default boolean acquire() throws Exception {
        return acquire(-1, 1);
    }

    /** Full paths of the nodes that stand for it, the holders first. */
    Collection<String> participants() throws Exception;
}
