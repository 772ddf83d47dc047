/** Who asks, as the token says. */
export type Principal =
  | {
      /** `application`: in its own name, with no person behind the token. */
      readonly kind: 'person' | 'application';
      /** The same by every token and for ever: of the person, or of the application. */
      readonly id: string;
      /** `client_id` of the application that asks. */
      readonly client: string;
      readonly scopes: ReadonlySet<string>;
      /** `jti` of the token. */
      readonly token: string;
    }
  /** A CORS preflight: a browser asks, and shows no token. */
  | { readonly kind: 'anonymous'; readonly scopes: ReadonlySet<string> };
