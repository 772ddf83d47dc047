const METADATA = '/.well-known/oauth-authorization-server';
const BEGIN = 'begin again with a new request at /auth';
const AGAIN = 'begin again at the application';
const BASIC = 'send Basic with the base64 of client_id:client_secret, both form-encoded';
const SILENT = 'send the request without prompt=none, so that the person can act';
const CLAIMS = 'write claims as OpenID Connect Core section 5.5 shows it';
const SIGN = 'sign a new DPoP proof (RFC 9449 section 4.2) for this request';
const CLIENT = 'check client_id, or register the client with countersign client add';

/**
 * The engine (oidc-provider) only says what is wrong. This table adds what the developer of a client can do, by the
 * description of an error, or by its code if the error has no description.
 */
export const REMEDIES: readonly (readonly [words: RegExp, remedy: string])[] = [
  // How the client authenticates.
  [/^client is invalid$/, CLIENT],
  [
    /^client authentication failed$/,
    'check client_id, secret and way of authentication; the log of the server has the reason',
  ],
  [/^no client authentication mechanism/, 'send client_id, and the secret if the client has one'],
  [/only be provided using one mechanism$/, 'send the secret in Authorization or in the form'],
  [/^client_id mismatch$/, 'send the same client_id in each place, or in one place only'],
  [/^invalid authorization header value format$/, BASIC],
  [/authorization header are not properly encoded$/, BASIC],
  [/^client_secret must be provided in the Authorization/, BASIC],
  [/^invalid client_assertion format$/, 'send a signed JWT (RFC 7523 section 3)'],
  [
    /^client_assertion_type must/,
    'send client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  ],
  [/^origin .* not allowed for client/, 'add a redirect URI of this origin to the client'],

  // Parameters.
  [
    /^a device cannot name the sub/,
    'leave sub out of claims: the person who enters the code decides',
  ],
  [/^no sign-in here has an acr of claims$/, `name an acr of acr_values_supported at ${METADATA}`],
  [/^missing required /, 'add what is missing to the request'],
  [/must not be provided twice$/, 'send each parameter once'],
  [/^scope contains invalid characters$/, 'separate the scopes by single spaces'],
  [/^failed to parse the request body$/, 'send a form, such as name=value&name=value'],
  [/^only .* content-type bodies are/, 'send a form, such as name=value&name=value'],
  [/^request is invalid$/, BEGIN],
  [/^unsupported grant_type/, `use one of grant_types_supported in ${METADATA}`],
  [/^unsupported response_type/, 'use response_type=code, with PKCE'],
  [/^requested response_type is not allowed/, 'register the client for authorization_code'],
  [/^unsupported response_mode/, `use one of response_modes_supported in ${METADATA}`],
  [/^requested response_mode is not allowed/, 'leave response_mode out'],
  [/^Web Message Response Mode/, 'leave web_message_uri out'],
  [/^unsupported prompt value/, `use one of prompt_values_supported in ${METADATA}`],
  [/^prompt none must only be used alone$/, 'leave the other values of prompt out'],
  [/^invalid max_age parameter value$/, 'send a whole number of seconds'],
  [/^(?:request|request_uri)_not_supported$/, 'send the parameters themselves, or push them'],
  [/^registration_not_supported$/, CLIENT],
  [/^request and request_uri parameters/, 'leave request out'],
  [/request_uri(?:$| is invalid)/, 'push the request again: a request_uri is short-lived'],
  [/^openid scope must be requested/, 'add openid to scope'],
  [/^requested scope is not allowed$/, 'ask for scopes of the client only'],
  [/^refresh token missing requested /, 'leave scope out, or begin again with them'],
  [/^(?:could not parse the )?claims[. ]/, CLAIMS],
  [/^invalid claims\./, CLAIMS],
  [/id_token_hint/, 'send the last ID token of this client, or leave id_token_hint out'],
  [/^redirect_uri did not match/, 'register it with countersign client set --redirect-uri'],
  [/^post_logout_redirect_uri not registered$/, 'register it with countersign client set'],
  [/^resource indicator must/, 'send the URL of a space as resource (RFC 8707)'],
  [/^resource indicator is missing/, 'send the URL of a space as resource (RFC 8707)'],
  [/^this client may not name this resource$/, 'check resource, or leave it out'],
  [/^this client may name no resource$/, 'register scopes with countersign client set --scope'],
  [/^the scopes are of several resources/, 'ask for the scopes of one resource'],
  [/^only a single (?:resource|audience)/, 'send one resource for each token'],

  // PKCE (RFC 7636) and DPoP (RFC 9449).
  [/^code_challenge_method must be provided$/, 'add code_challenge_method=S256'],
  [/^not supported value of code_challenge_method$/, 'use code_challenge_method=S256'],
  [/^code_challenge must be provided/, 'add code_challenge, the S256 of the code_verifier'],
  [/requires PKCE to be used/, 'add code_challenge and code_challenge_method=S256'],
  [/(?:minimum|maximum) length of/, 'send 43 to 128 letters, digits and - . _ ~'],
  [/ contains invalid characters$/, 'use letters, digits and - . _ ~ only'],
  [/nonce (?:is required )?in (?:the )?DPoP proof$/, 'use the nonce of DPoP-Nonce in a new proof'],
  [/use a DPoP nonce instead$/, 'compare the clocks, or use the nonce of DPoP-Nonce'],
  [/DPoP/, SIGN],
  [/^multiple proof-of-possession/, 'use a DPoP proof or a certificate'],

  // Grants.
  [
    /^grant request is invalid$/,
    'begin the grant again if its code or token was used or is old; the log of the server has the reason',
  ],
  [/^authorization request is still pending/, 'ask again after the interval'],
  [/^you are polling too quickly/, 'wait 5 s longer before each request'],
  [/^device code is expired$/, 'begin again at /device/auth'],
  [/^(?:no access|invalid) token provided$/, 'send an access token that is valid'],
  [/access token/, 'send the access token in Authorization'],
  [/^authorization header scheme must/, 'send the access token in Authorization'],
  [/not authorized to revoke/, 'use the client that got the token'],

  // The cookie, or the record of the sign-in, is gone.
  [/session.* (?:not found|changed|mismatch)$/, AGAIN],
  [/^authorization request has expired$/, AGAIN],
  [/^another request took it up$/, AGAIN],
  [/^interaction is required/, SILENT],

  // Without a page the person cannot act (OpenID Connect Core section 3.1.2.6).
  [/^End-User authentication/, SILENT],
  [/^(?:none of the )?requested (?:ACRs?|subject|scopes|claims) /, SILENT],
  [/^native clients require/, SILENT],
  [/ do not match$/, SILENT],
  [/^the person has to sign in/, SILENT],

  // Errors of ours that have the engine's form.
  [/^the person refused$/, 'ask again only if the person wishes it'],
  [/^the person did not sign in by/, 'ask for fewer acr_values, or let the person try again'],
  [/^none of the acr_values is known here$/, `use acr_values_supported in ${METADATA}`],
  [/^the token was issued to another client$/, 'use the client that got the token'],
  [/^the client was (?:removed|ended)/, 'ask the operator, or authenticate again'],
  [/^redirect_uri is required/, 'send the redirect_uri of the authorization request'],
  [/^the request is too long$/, 'send fewer parameters, or push the request'],
  [/^the description of the client cannot be/, 'mend the document at client_id'],
  [/^a key of RSA has/, 'make a key of this size, or of ES256'],
];

/** Returns the description of an error with what to do about it (RFC 6749 section 5.2). */
export function withRemedy(description: string): string {
  const remedy = remedyOf(description);
  return remedy === undefined ? description : `${description}: ${remedy}`;
}

/** Returns what to do about an error with this description or code; undefined if the text says it itself. */
export const remedyOf = (words: string): string | undefined =>
  REMEDIES.find(([pattern]) => pattern.test(words))?.[1];
