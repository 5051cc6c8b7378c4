package interop;

import java.util.Collection;

/** A lock as the commands know it. Only the thread that acquired it may release it, as in Curator. */
interface PeerLock {
    /**
     * @param wait in ms; below 0: for ever
     * @return whether it was granted
     */
    boolean acquire(long wait, int permits) throws Exception;

    /** Gives back what was acquired last. */
    void release() throws Exception;

    /** Full paths of the nodes that stand for it, the holders first. */
    Collection<String> participants() throws Exception;

    /** Number of the node that the holder holds it by; below 0 where the recipe has no order to check. */
    long sequence();
}
