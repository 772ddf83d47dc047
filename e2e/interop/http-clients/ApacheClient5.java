import java.net.URI;
import org.apache.hc.client5.http.auth.AuthScope;
import org.apache.hc.client5.http.auth.UsernamePasswordCredentials;
import org.apache.hc.client5.http.impl.auth.BasicCredentialsProvider;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.http.io.support.ClassicRequestBuilder;

/** Apache HttpClient 5: each argument is a method and a URL, PUT sends "hello". */
class ApacheClient5 {
  public static void main(String[] requests) throws Exception {
    var people = new BasicCredentialsProvider();
    people.setCredentials(
        new AuthScope(null, -1),
        new UsernamePasswordCredentials(
            System.getenv("NAME"), System.getenv("PASSWORD").toCharArray()));
    var via = System.getenv("VIA");
    try (var client =
        HttpClients.custom()
            .setDefaultCredentialsProvider(people)
            .setProxy(via == null ? null : HttpHost.create(URI.create(via)))
            .build()) {
      for (var request : requests) {
        var parts = request.split(" ");
        var building = ClassicRequestBuilder.create(parts[0]).setUri(parts[1]);
        if (parts[0].equals("PUT")) building.setEntity(new StringEntity("hello"));
        try (var answer = client.execute(building.build())) {
          var entity = answer.getEntity();
          var content = entity == null ? "" : EntityUtils.toString(entity);
          System.out.println(answer.getCode() + " " + content);
        }
      }
    }
  }
}
