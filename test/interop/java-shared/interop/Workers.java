package interop;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** The members of the fleet in this process. */
class Workers {
    private final AtomicBoolean isOver = new AtomicBoolean();

    /**
     * Works with that lock until there is rest, and tells the observer on that port under that name.
     *
     * @return how often the library threw
     */
    int work(WorkerLock lock, int port, String name) throws IOException, InterruptedException {
        isOver.set(false);
        try (Observer observer = new Observer(port)) {
            observer.tell("name " + name);
            return new Worker(lock, observer, isOver).run();
        }
    }

    /** Ends the work of all of them. */
    void rest() {
        isOver.set(true);
    }
}
