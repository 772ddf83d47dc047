/** Parameters of a challenge or of credentials (RFC 9110 section 11.2); names in lower case. */
export type AuthParams = Readonly<Record<string, string>>;

/** A challenge (RFC 9110 section 11.3): one scheme, and either a token68 or parameters. */
export interface Challenge {
  /** As registered at IANA, for example `Bearer`. */
  readonly scheme: string;
  readonly token68?: string;
  readonly params?: AuthParams;
}
