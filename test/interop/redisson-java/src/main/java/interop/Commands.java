package interop;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.redisson.api.RedissonClient;

/** What the peer can be asked to do; the answers are single lines. */
class Commands implements Command {
    private static final Set<Thread.State> ASLEEP = EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private final RedissonClient client;
    private final Workers workers = new Workers();
    private final Command locks;
    /** All that are no locks, by their specifications. */
    private final Map<String, Command> others = new ConcurrentHashMap<>();

    Commands(RedissonClient client) {
        this.client = client;
        this.locks = new LockCommands(client, workers);
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
                return others.computeIfAbsent(words[1], this::about).run(words);
        }
    }

    /** <code>semaphore:a</code>, <code>permits:a</code>, <code>latch:a</code>, <code>rounds#8:a</code>; else a lock. */
    private Command about(String specification) {
        int colon = specification.indexOf(':');
        String name = specification.substring(colon + 1);
        String[] kind = specification.substring(0, colon).split("#");
        switch (kind[0]) {
            case "semaphore":
                return new SemaphoreCommands(client.getSemaphore(name), workers);
            case "permits":
                return new PermitCommands(client.getPermitExpirableSemaphore(name), workers);
            case "latch":
                return new LatchCommands(client.getCountDownLatch(name));
            case "rounds":
                return new RoundCommands(client, name, Integer.parseInt(kind[1]), workers);
            default:
                return locks;
        }
    }

    /** Threads that sleep until a message wakes them. */
    private static long sleepers() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> isInside(Commands.class, thread.getValue()))
                // All but the first wait for a future, from their first command on; they do not miss messages.
                .filter(thread -> isInside(Semaphore.class, thread.getValue())
                        || isInside(FencedLock.class, thread.getValue())
                        || isInside(PermitCommands.class, thread.getValue())
                        || isInside(LatchCommands.class, thread.getValue()))
                .filter(thread -> ASLEEP.contains(thread.getKey().getState()))
                .count();
    }

    private static boolean isInside(Class<?> type, StackTraceElement[] stack) {
        return Arrays.stream(stack).anyMatch(frame -> frame.getClassName().equals(type.getName()));
    }
}
