import { remembering } from '#shared/base/recent-map.ts';
import { trustedFor } from '#shared/http/trusted-fields.ts';

/** The meaning of a field's name to a proxy or gateway. */
export interface Name {
  /** In lower case; a name with `_` counts as the one with `-` that CGI takes it for. */
  readonly canonical: string;
  /** It was sent as `canonical`, in whatever case. */
  readonly plain: boolean;
  /** Hop-by-hop: for one connection (RFC 9110 section 7.6.1), or for one proxy alone (section 11.7). */
  readonly hop: boolean;
  /** In a request, it is written anew from its parsed value. */
  readonly rewritten: boolean;
  /** Says how content is framed. */
  readonly framing: boolean;
  /**
   * For all recipients, so that no sender may name them in Connection (RFC 9110 section 7.6.1). One that
   * does wants us to take away what the next server decides by.
   */
  readonly endToEnd: boolean;
  /** Never in a trailer: framing, routing, and what a server reads before the content (RFC 9110 section 6.5.1). */
  readonly inHeaderOnly: boolean;
  /**
   * A proxy in front of a server vouches for its client by this field. A server behind us may trust our address, so
   * such a field must not come from a client (RFC 7239 section 8.1, RFC 9440 section 2.4, RFC 9729 section 6).
   */
  readonly vouched: boolean;
  /** Some frameworks carry out another method, or one at another path, because of it. */
  readonly overriding: boolean;
}

const HOP_BY_HOP = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);
const FRAMING = new Set(['content-length', 'trailer']);
const REWRITTEN = new Set([...FRAMING, 'host', 'cookie']);
const END_TO_END =
  /^(?:authorization|cache-control|content-.+|cookie|date|dpop|expect|host|if-.+|max-forwards|origin|range|sec-.+|via|x-api-key)$/;
const IN_HEADER_ONLY =
  /^(?:authorization|authentication-info|cache-control|content-.+|cookie|expect|host|max-forwards|range|set-cookie|trailer|via|www-authenticate)$/;

/** Names as they are sent are few, and each is looked at many times. */
export const nameOf: (sent: string) => Name = remembering(
  (sent) => {
    const lower = sent.toLowerCase();
    const canonical = lower.replaceAll(/[^a-z0-9-]/g, '-');
    const trust = trustedFor(canonical);
    return {
      canonical,
      plain: lower === canonical,
      hop: HOP_BY_HOP.has(canonical),
      rewritten: REWRITTEN.has(canonical),
      framing: FRAMING.has(canonical),
      endToEnd: END_TO_END.test(canonical),
      inHeaderOnly: IN_HEADER_ONLY.test(canonical),
      vouched: trust !== undefined && trust !== 'action',
      overriding: trust === 'action',
    };
  },
  { capacity: 2000, longest: 128 },
);
