import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
    static final byte[] SECRET = System.getenv("SIGNING_SECRET").getBytes(StandardCharsets.UTF_8);

    // In your database, in the transaction that does the work: an Idempotency-Key that is there already is a repeat.
    static final Set<String> handled = ConcurrentHashMap.newKeySet();
    static final BlockingQueue<byte[]> work = new LinkedBlockingQueue<>();

    static double now() {
        String fixed = System.getenv("FIXED_NOW");
        return fixed == null ? System.currentTimeMillis() / 1000.0 : Double.parseDouble(fixed);
    }

    /** Whether a body comes from the service, and is not an old one that somebody sends again. */
    static boolean isGenuine(String header, byte[] rawBody) throws GeneralSecurityException {
        Map<String, String> parts = new HashMap<>();
        for (String part : (header == null ? "" : header).split(",")) {
            int at = part.indexOf('=');
            if (at > 0) parts.put(part.substring(0, at).trim(), part.substring(at + 1).trim());
        }
        String t = parts.getOrDefault("t", "");
        String v1 = parts.getOrDefault("v1", "");
        if (!t.matches("[0-9]{1,12}") || !v1.matches("[0-9a-f]{64}")) return false;
        if (Math.abs(now() - Long.parseLong(t)) > 300) return false;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
        mac.update((t + ".").getBytes(StandardCharsets.US_ASCII));
        return MessageDigest.isEqual(mac.doFinal(rawBody), HexFormat.of().parseHex(v1)); // in constant time
    }

    static void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] rawBody = exchange.getRequestBody().readAllBytes(); // the bytes as they came, before anything is parsed
            String signature = exchange.getRequestHeaders().getFirst("X-Service-Signature");
            if (!isGenuine(signature, rawBody)) {
                exchange.sendResponseHeaders(403, -1);
                return;
            }
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            if (handled.add(key)) {
                work.add(rawBody); // parse and do it later: the answer must come within 15 seconds
                System.out.println("received " + key);
            }
            byte[] text = String.valueOf(work.size()).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
        } catch (GeneralSecurityException failure) {
            throw new IOException(failure);
        }
    }

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", Receiver::receive);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("listening on " + server.getAddress().getPort());
    }
}
