import { passed } from './plan.ts';
import type { Plan } from './plan.ts';

/** FAPI 2.0 Security Profile, for a server with private_key_jwt, DPoP and OpenID Connect. */
export const FAPI2_SECURITY_PROFILE = {
  name: 'fapi2-security-profile-final-test-plan',
  title: 'FAPI 2.0 Security Profile',
  variant: {
    openid: 'openid_connect',
    client_auth_type: 'private_key_jwt',
    sender_constrain: 'dpop',
    fapi_profile: 'plain_fapi',
    authorization_request_type: 'simple',
  },
  modules: {
    // Ordinary clients.
    'fapi2-security-profile-final-discovery-end-point-verification': passed(
      'the metadata list PAR, S256, private_key_jwt, the algorithms of FAPI and `iss` in answers',
    ),
    'fapi2-security-profile-final-happy-flow': passed(
      'two clients sign a person in, and the API refuses the token with the key of the other client',
    ),
    'fapi2-security-profile-final-user-rejects-authentication': passed(
      'the client gets `access_denied` if the person refuses',
    ),
    'fapi2-security-profile-final-ensure-authorization-request-without-state-success': passed(
      'a request without `state` succeeds, and the answer has no `state`',
    ),
    'fapi2-security-profile-final-ensure-authorization-request-without-nonce-success': passed(
      'a request without `nonce` succeeds',
    ),
    'fapi2-security-profile-final-ensure-authorization-request-with-64-char-nonce-success': passed(
      'the ID token has a nonce of 64 characters',
    ),
    'fapi2-security-profile-final-ensure-other-scope-order-succeeds': passed(
      'the scopes may come in another order',
    ),
    'fapi2-security-profile-final-test-claims-parameter-identity-claims': passed(
      'claims that the parameter `claims` asks for are in the ID token or at userinfo',
    ),
    'fapi2-security-profile-final-access-token-type-header-case-sensitivity': passed(
      'the API takes the scheme DPoP in any case',
    ),

    // DPoP.
    'fapi2-security-profile-final-check-dpop-proof-nbf-exp': passed(
      'a proof may have `nbf` and `exp`',
    ),
    'fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-before-succeeds':
      passed('a proof may be 10 s old'),
    'fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-after-succeeds': passed(
      'a proof may be 10 s ahead',
    ),
    'fapi2-security-profile-final-ensure-mismatched-dpop-jkt-fails': passed(
      'PAR refuses a `dpop_jkt` of another key than the proof',
    ),
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt':
      passed('a code that PAR bound by a proof needs the key of the proof'),
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-jkt': passed(
      'a code that `dpop_jkt` bound needs this key',
    ),
    'fapi2-security-profile-final-ensure-dpopproof-at-par-endpoint-binding-success': passed(
      'a code that PAR bound by a proof is redeemed with the same key',
    ),
    'fapi2-security-profile-final-ensure-dpop-auth-code-binding-success': passed(
      'a code that `dpop_jkt` bound is redeemed with the same key',
    ),
    'fapi2-security-profile-final-dpop-negative-tests': passed(
      'the API refuses each invalid proof, and a proof that was used',
    ),

    // Parameters beside the pushed ones, and unusual parameters.
    'fapi2-security-profile-final-ensure-different-nonce-inside-and-outside-request-object': passed(
      'a nonce at the authorization endpoint does not replace the pushed one',
    ),
    'fapi2-security-profile-final-ensure-different-state-inside-and-outside-request-object': passed(
      'a state at the authorization endpoint does not replace the pushed one',
    ),
    'fapi2-security-profile-final-state-only-outside-request-object-not-used': passed(
      'a state that was not pushed is not in the answer',
    ),
    'fapi2-security-profile-final-ensure-authorization-request-with-long-nonce': passed(
      'a nonce of 384 characters comes back, or is refused',
    ),
    'fapi2-security-profile-final-ensure-authorization-request-with-long-state': passed(
      'a state of 1000 characters comes back, or is refused',
    ),

    // Requests that must be refused.
    'fapi2-security-profile-final-ensure-request-object-without-redirect-uri-fails': passed(
      'PAR refuses a request without redirect URI as `invalid_request`',
    ),
    'fapi2-security-profile-final-plain-fapi-tolerate-unregistered-redirect-uri': passed(
      'PAR refuses a redirect URI that is not registered, or allows it',
    ),
    'fapi2-security-profile-final-ensure-unsigned-authorization-request-without-using-par-fails':
      passed('an authorization request that was not pushed is refused'),
    'fapi2-security-profile-final-ensure-redirect-uri-in-authorization-request': passed(
      'a request without redirect URI is refused, or goes to the registered one',
    ),
    'fapi2-security-profile-final-ensure-response-type-code-idtoken-fails': passed(
      '`response_type=code id_token` is refused',
    ),
    'fapi2-security-profile-final-ensure-response-type-token-fails': passed(
      '`response_type=token` is refused',
    ),

    // The token endpoint.
    'fapi2-security-profile-final-ensure-client-id-in-token-endpoint': passed(
      'the identifier of the second client does not go with the key of the first',
    ),
    'fapi2-security-profile-final-ensure-holder-of-key-required': passed(
      'a token request without a proof is refused',
    ),
    'fapi2-security-profile-final-ensure-authorization-code-is-bound-to-client': passed(
      'another client cannot redeem a code',
    ),
    'fapi2-security-profile-final-attempt-reuse-authorization-code-after-one-second': passed(
      'a code works once, and its second use ends its tokens',
    ),
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-expired-auth-code': passed(
      'a code is refused after 62 s',
    ),
    'fapi2-security-profile-final-refresh-token': passed(
      'refresh tokens need the client, its assertion and a proof',
    ),

    // Assertions.
    'fapi2-security-profile-final-ensure-signed-client-assertion-with-RS256-fails': passed(
      'an assertion signed with RS256 is refused',
    ),
    'fapi2-security-profile-final-ensure-client-assertion-in-token-endpoint': passed(
      'a token request without an assertion is refused',
    ),
    'fapi2-security-profile-final-ensure-client-assertion-with-exp-is-5-minutes-in-past-fails':
      passed('an assertion that expired five minutes ago is refused'),
    'fapi2-security-profile-final-ensure-client-assertion-with-wrong-aud-fails': passed(
      'an assertion for another audience is refused',
    ),
    'fapi2-security-profile-final-ensure-client-assertion-with-no-sub-fails': passed(
      'an assertion without `sub` is refused',
    ),

    // PAR.
    'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds':
      passed('a `request_uri` works again as long as the person has not signed in'),
    'fapi2-security-profile-final-par-attempt-reuse-request_uri': passed(
      'a `request_uri` gives one code',
    ),
    'fapi2-security-profile-final-par-attempt-to-use-expired-request_uri': passed(
      'a `request_uri` is refused after `expires_in`',
    ),
    'fapi2-security-profile-final-par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted':
      passed('PAR takes an assertion that is 8 s ahead'),
    'fapi2-security-profile-final-par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails':
      passed('PAR refuses an assertion that is more than 60 s ahead'),
    'fapi2-security-profile-final-par-attempt-to-use-request_uri-for-different-client': passed(
      'another client cannot use a `request_uri`',
    ),
    'fapi2-security-profile-final-par-authorization-request-containing-request_uri-form-param':
      passed('PAR refuses a `request_uri`'),
    'fapi2-security-profile-final-par-attempt-invalid-http-method': passed(
      'PAR refuses other methods than POST',
    ),
    'fapi2-security-profile-final-par-ensure-pkce-required': passed(
      'PAR refuses a request without PKCE',
    ),
    'fapi2-security-profile-final-ensure-pkce-code-verifier-required': passed(
      'a code is refused without a verifier',
    ),
    'fapi2-security-profile-final-incorrect-pkce-code-verifier-rejected': passed(
      'a code is refused with another verifier',
    ),
    'fapi2-security-profile-final-par-plain-pkce-rejected': passed('PAR refuses plain PKCE'),
    'fapi2-security-profile-final-par-without-duplicate-parameters': passed(
      '`client_id` and `request_uri` alone are enough at the authorization endpoint',
    ),
    'fapi2-security-profile-final-par-test-array-as-audience-fails': passed(
      'PAR refuses an assertion for several audiences',
    ),
    'fapi2-security-profile-final-par-test-par-endpoint-url-as-audience-fails': passed(
      'PAR refuses an assertion for the PAR endpoint',
    ),
    'fapi2-security-profile-final-par-test-token-endpoint-url-as-audience-fails': passed(
      'PAR refuses an assertion for the token endpoint',
    ),
  },
} as const satisfies Plan;
