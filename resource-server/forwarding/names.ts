import { remembering } from '#shared/base/recent-map.ts';
import { trustedFor } from '#shared/http/trusted-fields.ts';

/** The meaning of a field's name to a proxy or gateway. */
export interface Name {
  /** The name in lower case. A `_` is replaced by `-`, since CGI treats both as equal. */
  readonly canonical: string;
  /** Whether the name was sent with the spelling of `canonical`, in any case. */
  readonly plain: boolean;
  /** Hop-by-hop: the field is for one connection (RFC 9110 section 7.6.1), or for one proxy (section 11.7). */
  readonly hop: boolean;
  /** In a request, the field is written again from its parsed value. */
  readonly rewritten: boolean;
  /** The field describes how content is framed. */
  readonly framing: boolean;
  /**
   * The field is for all recipients, so no sender may name it in Connection (RFC 9110 section 7.6.1). A sender that
   * does so wants to remove a field on which the next server bases decisions.
   */
  readonly endToEnd: boolean;
  /**
   * The field never appears in a trailer: framing, routing, and fields that a server reads before the content (RFC 9110
   * section 6.5.1).
   */
  readonly inHeaderOnly: boolean;
  /**
   * A proxy in front of a server asserts facts about its client by this field. A server behind this one may trust our
   * address, so such a field must not come from a client (RFC 7239 section 8.1, RFC 9440 section 2.4, RFC 9729 section
   * 6).
   */
  readonly vouched: boolean;
  /** Some frameworks replace the method or the path of a request by this field. */
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

/** Cached, since only few names are used, and each is looked up often. */
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
