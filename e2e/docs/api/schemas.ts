/** The contents of the JSON endpoints, by name, as JSON Schema (draft 2020-12). */
const text = { type: 'string' };
const url = { type: 'string', format: 'uri' };
const integer = { type: 'integer' };
const texts = { type: 'array', items: text };
const yesNo = { type: 'boolean' };

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

const told = (schema: object, description: string) => ({ ...schema, description });

const confirmation = object({
  jkt: told(text, 'Thumbprint of the key that the token is bound to.'),
});

export const SCHEMAS = {
  Problem: {
    ...object(
      { title: text, status: integer, detail: told(text, 'What was wrong, and what to do.') },
      ['title', 'status'],
    ),
    description: 'Problem details (RFC 9457). The type is about:blank.',
  },
  RefusedOperation: {
    ...object(
      {
        title: text,
        status: integer,
        detail: told(text, 'What was wrong, and what to do. The words may change.'),
        code: told(text, 'Says the same for programs: refusals.md lists all.'),
        values: told({ type: 'object' }, 'What stands in the text, by name.'),
        about: told(text, 'What the text is about, such as one of several addresses.'),
        path: told(text, 'Points to the member that is wrong (RFC 6901).'),
      },
      ['title', 'status'],
    ),
    description: 'Problem details. A refused operation has a code.',
  },
  OAuthError: object({ error: text, error_description: text }, ['error']),
  Health: object({ status: { const: 'ok' } }, ['status']),
  Jwks: object(
    {
      keys: {
        type: 'array',
        items: object({ kty: text, kid: text, alg: text, use: text }, ['kty', 'kid']),
      },
    },
    ['keys'],
  ),
  AuthorizationServerMetadata: object(
    {
      issuer: url,
      authorization_endpoint: url,
      token_endpoint: url,
      jwks_uri: url,
      userinfo_endpoint: url,
      introspection_endpoint: url,
      revocation_endpoint: url,
      device_authorization_endpoint: url,
      pushed_authorization_request_endpoint: url,
      end_session_endpoint: url,
      revocations_endpoint: told(url, 'For servers that follow revocations; a member of our own.'),
      scopes_supported: texts,
      grant_types_supported: texts,
      code_challenge_methods_supported: texts,
      dpop_signing_alg_values_supported: texts,
    },
    ['issuer', 'token_endpoint', 'jwks_uri'],
  ),
  ProtectedResourceMetadata: object(
    {
      resource: url,
      resource_name: text,
      authorization_servers: { type: 'array', items: url },
      scopes_supported: texts,
      bearer_methods_supported: texts,
      dpop_signing_alg_values_supported: texts,
      dpop_bound_access_tokens_required: yesNo,
    },
    ['resource', 'authorization_servers'],
  ),
  PushedRequest: object({ request_uri: text, expires_in: integer }, ['request_uri', 'expires_in']),
  DeviceAuthorization: object(
    {
      device_code: text,
      user_code: text,
      verification_uri: url,
      verification_uri_complete: url,
      expires_in: integer,
      interval: told(integer, 'Seconds between two polls.'),
    },
    ['device_code', 'user_code', 'verification_uri', 'expires_in'],
  ),
  TokenAnswer: object(
    {
      access_token: told(text, 'A JWT (RFC 9068).'),
      token_type: { enum: ['Bearer', 'DPoP'] },
      expires_in: integer,
      scope: text,
      refresh_token: text,
      id_token: text,
    },
    ['access_token', 'token_type', 'expires_in'],
  ),
  Introspection: object(
    {
      active: yesNo,
      token_type: { enum: ['Bearer', 'DPoP'] },
      iss: url,
      aud: text,
      sub: text,
      client_id: text,
      scope: text,
      iat: integer,
      exp: integer,
      jti: text,
      cnf: confirmation,
    },
    ['active'],
  ),
  Userinfo: object(
    {
      sub: text,
      name: text,
      preferred_username: text,
      picture: url,
      locale: text,
      email: text,
      email_verified: yesNo,
      groups: texts,
    },
    ['sub'],
  ),
  RevocationPage: object(
    {
      epoch: told(
        text,
        'Identifier of the memory of the store. Entries of another epoch no longer count.',
      ),
      cursor: told(text, 'The next value of `after`.'),
      lease: told({ type: 'number' }, 'Seconds for which this may be trusted. 0: there is more.'),
      entries: {
        type: 'array',
        items: object(
          {
            kind: { enum: ['token', 'grant', 'key', 'person', 'client'] },
            id: told(text, 'SHA-256 of the identifier in base64url; of a key, the identifier.'),
            until: told(integer, 'Milliseconds since 1970, after which it may be forgotten.'),
            generation: told(
              integer,
              'Of a person or client: tokens of an earlier one are refused.',
            ),
          },
          ['kind', 'id', 'until'],
        ),
      },
    },
    ['epoch', 'cursor', 'entries', 'lease'],
  ),
  TokenIssuerDirectory: object(
    {
      'issuer-request-uri': url,
      'token-keys': {
        type: 'array',
        items: object(
          { 'token-type': { enum: [1, 2] }, 'token-key': text, 'not-before': integer },
          ['token-type', 'token-key'],
        ),
      },
    },
    ['issuer-request-uri', 'token-keys'],
  ),
  Verification: object({ valid: yesNo }, ['valid']),
} as const;

export type SchemaName = keyof typeof SCHEMAS;
