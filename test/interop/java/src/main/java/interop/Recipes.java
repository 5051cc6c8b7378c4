package interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/**
 * What this process has that is no lock, by specification: <code>latch#id:/a</code>, <code>selector#id:/a</code>,
 * <code>count:/a</code>, <code>value:/a</code>, <code>long:/a</code>, <code>integer:/a</code>, <code>barrier:/a</code>,
 * <code>doubleBarrier#3#member:/a</code> for three. The same specification is the same object, for all threads.
 */
class Recipes {
    private final CuratorFramework client;
    private final Map<String, Command> recipes = new ConcurrentHashMap<>();

    Recipes(CuratorFramework client) {
        this.client = client;
    }

    Command get(String specification) {
        return recipes.computeIfAbsent(specification, this::make);
    }

    private Command make(String specification) {
        int colon = specification.indexOf(':');
        String path = specification.substring(colon + 1);
        String[] words = specification.substring(0, colon).split("#", -1);
        switch (words[0]) {
            case "latch":
                return new LatchCommands(client, path, words[1]);
            case "selector":
                return new SelectorCommands(client, path, words[1]);
            case "count":
                return new CountCommands(client, path);
            case "value":
                return new ValueCommands(client, path);
            case "long":
                return AtomicCommands.ofLong(client, path);
            case "integer":
                return AtomicCommands.ofInteger(client, path);
            case "barrier":
                return new BarrierCommands(new DistributedBarrier(client, path));
            case "doubleBarrier":
                return new DoubleBarrierCommands(
                        new DistributedDoubleBarrier(client, path, Integer.parseInt(words[1])));
            default:
                throw new IllegalArgumentException("No such recipe: " + specification);
        }
    }
}
