import java.net.Authenticator;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.URI;

/** The JDK's HttpURLConnection: each argument is a method and a URL, PUT sends "hello". */
class HttpUrlConnection {
  public static void main(String[] requests) throws Exception {
    var password = System.getenv("PASSWORD").toCharArray();
    Authenticator.setDefault(
        new Authenticator() {
          @Override
          protected PasswordAuthentication getPasswordAuthentication() {
            return new PasswordAuthentication(System.getenv("NAME"), password);
          }
        });
    for (var request : requests) {
      var parts = request.split(" ");
      var connection = (HttpURLConnection) URI.create(parts[1]).toURL().openConnection(proxy());
      connection.setRequestMethod(parts[0]);
      if (parts[0].equals("PUT")) {
        connection.setDoOutput(true);
        connection.getOutputStream().write("hello".getBytes());
      }
      var status = connection.getResponseCode();
      var content = status < 400 ? connection.getInputStream() : connection.getErrorStream();
      System.out.println(status + " " + new String(content.readAllBytes()));
    }
  }

  static Proxy proxy() {
    if (System.getenv("VIA") == null) return Proxy.NO_PROXY;
    var uri = URI.create(System.getenv("VIA"));
    return new Proxy(Proxy.Type.HTTP, new InetSocketAddress(uri.getHost(), uri.getPort()));
  }
}
