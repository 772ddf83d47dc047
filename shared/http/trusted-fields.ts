/**
 * Request fields that servers trust because the proxy in front of them writes the fields, by their meaning. A name
 * that ends with `*` means all names with that beginning. Names are in lower case, with hyphens.
 */
export const TRUSTED_FIELDS = {
  /**
   * Fields with the identity of the client: CGI, Authelia, Kubernetes, Grafana, oauth2-proxy, authentik, Pomerium,
   * clouds, Kong, SAML, ours.
   */
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
  /** Fields with the client's part of the TLS handshake (RFC 9440, RFC 9729 section 6). */
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
  /** Fields with the client's address. */
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
  /** Fields with the URL and protocol of the client's request (RFC 7239). */
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
  /** CGI turns this field into `HTTP_PROXY`, which many clients use as the setting of their own proxy (httpoxy). */
  environment: ['proxy'],
  /** For these fields some frameworks use another method or path than those that servers in front have checked. */
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

/** Returns what servers trust a field for; undefined for an ordinary field. `name`: in lower case, with hyphens. */
export function trustedFor(name: string): Trust | undefined {
  return EXACT.get(name) ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
}
