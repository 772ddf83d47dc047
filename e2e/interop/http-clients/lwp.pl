# Debian's LWP: each argument is a method and a URL, PUT sends "hello"; prints the statuses and contents.
use strict;
use warnings;
use LWP::UserAgent;
use URI;

my $agent = LWP::UserAgent->new(timeout => 20);
$agent->proxy('http', $ENV{VIA}) if $ENV{VIA};
for (@ARGV) {
    my ($method, $url) = split / /;
    my $uri     = URI->new($url);
    my ($realm) = reverse grep { $_ } split '/', $uri->path =~ s{[^/]*$}{}r;
    $agent->credentials($uri->host_port, $realm, $ENV{NAME}, $ENV{PASSWORD});
    my $answer = $agent->request(
        HTTP::Request->new($method, $url, [], $method eq 'PUT' ? 'hello' : undef));
    print $answer->code, ' ', $answer->content, "\n";
}
