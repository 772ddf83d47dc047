/** The token types that are issued and accepted (RFC 9578 section 8.2); values of the IANA registry. */
export const VOPRF = 0x0001;
export const BLIND_RSA = 0x0002;

export type TokenType = typeof VOPRF | typeof BLIND_RSA;

/** Lengths in octets. */
export interface TokenTypeFacts {
  /** The name in the configuration and for people. */
  readonly name: 'voprf-p384' | 'blind-rsa-2048';
  /** `blinded_msg` of a TokenRequest: Ne or Nk. */
  readonly blinded: number;
  /** A TokenResponse: the evaluated element and its proof, or the blind signature. */
  readonly response: number;
  /** Nk: `authenticator` of a Token. */
  readonly authenticator: number;
}

export const TOKEN_TYPES: Readonly<Record<TokenType, TokenTypeFacts>> = {
  [VOPRF]: { name: 'voprf-p384', blinded: 49, response: 49 + 48 + 48, authenticator: 48 },
  [BLIND_RSA]: { name: 'blind-rsa-2048', blinded: 256, response: 256, authenticator: 256 },
};

/** Returns a supported type; undefined for unknown and reserved types (RFC 9577 section 6.2.1). */
export function tokenType(value: number): TokenType | undefined {
  return value === VOPRF || value === BLIND_RSA ? value : undefined;
}

/** Returns the type with a name in `TOKEN_TYPES`. */
export function tokenTypeNamed(name: TokenTypeFacts['name']): TokenType {
  return TOKEN_TYPES[VOPRF].name === name ? VOPRF : BLIND_RSA;
}
