package interop;

import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicNumber;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** What can be asked of a distributed atomic number. */
class AtomicCommands<T extends Number> implements Command {
    private static final RetryPolicy RETRY = new ExponentialBackoffRetry(1, 5);

    private final DistributedAtomicNumber<T> number;
    private final Function<String, T> parse;

    private AtomicCommands(DistributedAtomicNumber<T> number, Function<String, T> parse) {
        this.number = number;
        this.parse = parse;
    }

    static Command ofLong(CuratorFramework client, String path) {
        return new AtomicCommands<>(new DistributedAtomicLong(client, path, RETRY, promotion(path)), Long::valueOf);
    }

    static Command ofInteger(CuratorFramework client, String path) {
        return new AtomicCommands<>(
                new DistributedAtomicInteger(client, path, RETRY, promotion(path)), Integer::valueOf);
    }

    /** By the lock that the Node process is promoted to. */
    private static PromotedToLock promotion(String path) {
        return PromotedToLock.builder()
                .lockPath(path + "-lock")
                .retryPolicy(RETRY)
                .timeout(30, TimeUnit.SECONDS)
                .build();
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "get":
                return number.get().postValue().toString();
            case "increment":
                return text(number.increment());
            case "decrement":
                return text(number.decrement());
            case "add":
                return text(number.add(parse.apply(words[2])));
            case "subtract":
                return text(number.subtract(parse.apply(words[2])));
            case "trySet":
                return text(number.trySet(parse.apply(words[2])));
            case "compareAndSet":
                return text(number.compareAndSet(parse.apply(words[2]), parse.apply(words[3])));
            case "forceSet":
                number.forceSet(parse.apply(words[2]));
                return "set";
            case "initialize":
                return Boolean.toString(number.initialize(parse.apply(words[2])));
            case "count":
                return Integer.toString(count(Integer.parseInt(words[2])));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    /** Adds 1 so many times; returns how often that did not succeed, and was done again. */
    private int count(int times) throws Exception {
        int failures = 0;
        for (int n = 0; n < times; n++) {
            while (!number.increment().succeeded()) {
                failures++;
            }
        }
        return failures;
    }

    private String text(AtomicValue<T> value) {
        return value.succeeded() + " " + value.preValue() + " " + value.postValue();
    }
}
