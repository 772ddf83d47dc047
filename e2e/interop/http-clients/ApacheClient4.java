import java.util.Optional;
import org.apache.http.HttpHost;
import org.apache.http.auth.AuthScope;
import org.apache.http.auth.UsernamePasswordCredentials;
import org.apache.http.client.methods.RequestBuilder;
import org.apache.http.entity.StringEntity;
import org.apache.http.impl.client.BasicCredentialsProvider;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Apache HttpClient 4: each argument is a method and a URL, PUT sends "hello". */
class ApacheClient4 {
  public static void main(String[] requests) throws Exception {
    var people = new BasicCredentialsProvider();
    people.setCredentials(
        AuthScope.ANY,
        new UsernamePasswordCredentials(System.getenv("NAME"), System.getenv("PASSWORD")));
    var via = Optional.ofNullable(System.getenv("VIA")).map(HttpHost::create).orElse(null);
    try (var client =
        HttpClients.custom().setDefaultCredentialsProvider(people).setProxy(via).build()) {
      for (var request : requests) {
        var parts = request.split(" ");
        var building = RequestBuilder.create(parts[0]).setUri(parts[1]);
        if (parts[0].equals("PUT")) building.setEntity(new StringEntity("hello"));
        try (var answer = client.execute(building.build())) {
          var entity = answer.getEntity();
          var content = entity == null ? "" : EntityUtils.toString(entity);
          System.out.println(answer.getStatusLine().getStatusCode() + " " + content);
        }
      }
    }
  }
}
