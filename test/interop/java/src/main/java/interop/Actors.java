package interop;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Threads by name: to Curator, each of them is an owner of locks. Each does its commands one after the other. */
class Actors {
    private final Commands commands;
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

    Actors(Commands commands) {
        this.commands = commands;
    }

    /** @param line actor, command, arguments, with spaces in between; the answer begins with the actor as well */
    void tell(String line) {
        String[] words = line.split(" ");
        threads.computeIfAbsent(words[0], name -> Executors.newSingleThreadExecutor())
                .execute(() -> answer(words[0], Arrays.copyOfRange(words, 1, words.length)));
    }

    private void answer(String actor, String[] words) {
        String answer;
        try {
            answer = "ok " + commands.run(words);
        } catch (Exception e) {
            answer = "error " + e.toString().replace('\n', ' ');
        }
        System.out.println(actor + " " + answer);
    }
}
