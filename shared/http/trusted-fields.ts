/**
 * Request fields that servers believe because the proxy before them writes them, by what they tell. A name that ends
 * with `*` stands for all that begin so. In lower case, with hyphens.
 */
export const TRUSTED_FIELDS = {
  /** The identity of the client: CGI, Authelia, Kubernetes, Grafana, oauth2-proxy, authentik, Pomerium, clouds, Kong, SAML, ours. */
  identity: [
    'remote-*',
    'x-remote-*',
    'x-webauth-*',
    'x-authenticated-*',
    'x-auth-request-*',
    'x-authentik-*',
    'x-vouch-*',
    'x-pomerium-*',
    'x-goog-authenticated-user-*',
    'x-goog-iap-*',
    'x-amzn-oidc-*',
    'x-ms-client-principal*',
    'x-ms-token-*',
    'tailscale-user-*',
    'x-consumer-*',
    'x-credential-*',
    'oidc-*',
    'mellon-*',
    'shib-*',
    'x-shib-*',
    'sm-user',
    'iv-creds',
    'iv-groups',
    'iv-user',
    'x-auth-subject',
    'x-auth-name',
    'x-auth-email',
    'x-auth-groups',
    'x-auth-client',
    'x-auth-scope',
    'x-auth-scheme',
    'x-auth-statement',
  ],
  /** The client's part of the TLS handshake (RFC 9440, RFC 9729 section 6). */
  connection: [
    'client-cert*',
    'concealed-auth-export',
    'ssl-*',
    'x-amzn-mtls-*',
    'x-client-cert*',
    'x-client-dn',
    'x-client-verify',
    'x-ssl-*',
  ],
  /** Where the client is. */
  address: [
    'ali-cdn-real-ip',
    'cdn-src-ip',
    'cf-*',
    'client-ip',
    'cloudfront-*',
    'do-connecting-ip',
    'fastly-*',
    'fly-client-ip',
    'incap-client-ip',
    'proxy-client-ip',
    'true-client-ip',
    'wl-proxy-*',
    'x-appengine-*',
    'x-arr-*',
    'x-azure-*',
    'x-client-ip',
    'x-client-port',
    'x-cluster-client-ip',
    'x-envoy-*',
    'x-nf-client-connection-ip',
    'x-original-forwarded-for',
    'x-originating-ip',
    'x-proxyuser-ip',
    'x-real-*',
    'x-sucuri-clientip',
    'x-vercel-*',
  ],
  /** How the client came, and to which URL (RFC 7239). */
  origin: [
    'forwarded',
    'forwarded-*',
    'front-end-https',
    'x-forward-*',
    'x-forwarded',
    'x-forwarded-*',
    'x-host',
    'x-http-host-override',
    'x-https',
    'x-original-host',
    'x-original-proto',
    'x-scheme',
    'x-script-name',
    'x-url-scheme',
  ],
  /** CGI makes `HTTP_PROXY` of it, which many clients take for a proxy of theirs (httpoxy). */
  environment: ['proxy'],
  /** Some frameworks carry out another method, or at another path, than anybody before them has looked at. */
  action: [
    'x-http-method',
    'x-http-method-override',
    'x-method-override',
    'x-original-method',
    'x-original-uri',
    'x-original-url',
    'x-rewrite-url',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Trust = keyof typeof TRUSTED_FIELDS;

const ROWS = Object.entries(TRUSTED_FIELDS).flatMap(([told, names]) =>
  names.map((name) => [name, told as Trust] as const),
);
const EXACT: ReadonlyMap<string, Trust> = new Map(ROWS);
const PREFIXES = ROWS.flatMap(([name, told]) =>
  name.endsWith('*') ? [[name.slice(0, -1), told] as const] : [],
);

/** Returns what servers trust a field for; undefined: nothing special. `name`: in lower case, with hyphens. */
export function trustedFor(name: string): Trust | undefined {
  return EXACT.get(name) ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
}
