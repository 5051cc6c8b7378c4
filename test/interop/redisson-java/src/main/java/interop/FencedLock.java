package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;

/** A lock that numbers its holds by their fencing tokens. */
class FencedLock implements PeerLock {
    private final RFencedLock lock;
    private final ThreadLocal<Long> token = new ThreadLocal<>();

    FencedLock(RFencedLock lock) {
        this.lock = lock;
    }

    @Override
    public boolean acquire(long wait, long lease) {
        // It waits for ever where the wait is below 0, and heeds the lease then, which lockAndGetToken does not.
        Long granted = lock.tryLockAndGetToken(wait, lease, TimeUnit.MILLISECONDS);
        if (granted == null) {
            return false;
        }
        token.set(granted);
        return true;
    }

    @Override
    public boolean tryAcquire() {
        return acquire(0, -1); // without arguments, tryLockAndGetToken waits
    }

    @Override
    public RLock redissonLock() {
        return lock;
    }

    @Override
    public long sequence() {
        return token.get();
    }
}
