/**
 * The kinds of reasons for which a space lets nobody in, each with what its texts in the log have in common. A text may
 * name what a client sent; a metric has the kind alone. The first that fits counts.
 */
export const REASONS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['no-credentials', /^no credentials/],
  ['cross-site', /page of another origin/],
  ['other-scheme', /a scheme that the space does not have/],
  ['throttled', /^too many|^limit of the key/],
  ['revoked', /revoked|this API key has ended|no such session/],
  ['replayed', /used before|replay|signed for once already/],
  ['expired', /expired|is stale|stale sr|too old|past its end|has ended/],
  ['audience', /aud is another|another realm|another origin/],
  ['issuer', /iss is another/],
  ['unknown-key', /no such key|of no key|key of nobody/],
  ['not-allowed', /none of those whom the space allows/],
  ['scope', /^lacks /],
  ['step-up', /^needs |second factor/],
  ['clear-text', /needs TLS|not over TLS/],
  ['proof', /DPoP|key proof|signature/],
  ['wrong-credentials', /wrong|unknown name|nobody/],
  ['malformed', /malformed|missing|more than one|not |no |several|two /],
];
