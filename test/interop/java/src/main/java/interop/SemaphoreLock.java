package interop;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** A semaphore whose leases each thread gives back in the reverse order. */
class SemaphoreLock implements PeerLock {
    private final InterProcessSemaphoreV2 semaphore;
    private final ThreadLocal<Deque<Collection<Lease>>> held = ThreadLocal.withInitial(ArrayDeque::new);

    SemaphoreLock(InterProcessSemaphoreV2 semaphore) {
        this.semaphore = semaphore;
    }

    @Override
    public boolean acquire(long wait, int permits) throws Exception {
        Collection<Lease> leases =
                wait < 0 ? semaphore.acquire(permits) : semaphore.acquire(permits, wait, TimeUnit.MILLISECONDS);
        if (leases == null) {
            return false;
        }
        held.get().push(leases);
        return true;
    }

    @Override
    public void release() {
        semaphore.returnAll(held.get().pop());
    }

    @Override
    public Collection<String> participants() throws Exception {
        return semaphore.getParticipantNodes();
    }

    @Override
    public long sequence() {
        return -1;
    }
}
