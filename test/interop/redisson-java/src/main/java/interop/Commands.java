package interop;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** What the peer can be asked to do; the answers are single lines. */
class Commands implements Command {
    private static final Set<Thread.State> ASLEEP = EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private final RedissonClient client;
    private final Locks locks;
    private final Workers workers = new Workers();

    Commands(RedissonClient client) {
        this.client = client;
        this.locks = new Locks(client);
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "sleepers":
                return Long.toString(sleepers());
            case "rest":
                workers.rest();
                return "resting";
            default:
                return run(locks.get(words[1]), words);
        }
    }

    private String run(PeerLock lock, String[] words) throws Exception {
        RLock redissonLock = lock.redissonLock();
        switch (words[0]) {
            case "acquire":
                return outcome(lock.acquire(Long.parseLong(words[2]), Long.parseLong(words[3])));
            case "tryAcquire":
                return outcome(lock.tryAcquire());
            case "release":
                lock.release();
                return "released";
            case "forceUnlock":
                return Boolean.toString(redissonLock.forceUnlock());
            case "isLocked":
                return Boolean.toString(redissonLock.isLocked());
            case "isHeld":
                return Boolean.toString(redissonLock.isHeldByCurrentThread());
            case "holder":
                return client.getId() + ":" + Thread.currentThread().getId();
            case "holdCount":
                return Integer.toString(redissonLock.getHoldCount());
            case "remaining":
                return Long.toString(redissonLock.remainTimeToLive());
            case "token":
                return Long.toString(lock.sequence());
            case "work":
                return Integer.toString(workers.work(lock, Integer.parseInt(words[2]), words[3]));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    /** Threads that sleep until a message wakes them. */
    private static long sleepers() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> isInside(Commands.class, thread.getValue()))
                // A fenced lock waits for a future, from its first command on; it does not miss messages.
                .filter(thread -> isInside(Semaphore.class, thread.getValue())
                        || isInside(FencedLock.class, thread.getValue()))
                .filter(thread -> ASLEEP.contains(thread.getKey().getState()))
                .count();
    }

    private static boolean isInside(Class<?> type, StackTraceElement[] stack) {
        return Arrays.stream(stack).anyMatch(frame -> frame.getClassName().equals(type.getName()));
    }

    private static String outcome(boolean isGranted) {
        return isGranted ? "granted" : "timeout";
    }
}
