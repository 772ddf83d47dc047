/** Plans of OpenID Connect that this server cannot pass, since it does not offer a part of them on purpose. */
export const NOT_OFFERED: readonly {
  readonly names: readonly string[];
  readonly lacks: string;
  readonly why: string;
}[] = [
  {
    names: [
      'oidcc-dynamic-certification-test-plan',
      'oidcc-3rdparty-init-login-certification-test-plan',
    ],
    lacks: 'registration_endpoint',
    why: 'An operator registers clients, or a client describes itself in a document. The metadata have no `registration_endpoint`.',
  },
  {
    names: [
      'oidcc-implicit-certification-test-plan',
      'oidcc-formpost-implicit-certification-test-plan',
      'oidcc-hybrid-certification-test-plan',
      'oidcc-formpost-hybrid-certification-test-plan',
    ],
    lacks: 'response types with `token` or `id_token`',
    why: 'RFC 9700 section 2.1.2 advises against tokens in the answer of the authorization endpoint. Such a request is `unsupported_response_type`.',
  },
  {
    names: ['oidcc-frontchannel-rp-initiated-logout-certification-test-plan'],
    lacks: 'frontchannel_logout_supported',
    why: 'Browsers block the cookies that front-channel logout needs. Applications get logout tokens from the server.',
  },
  {
    names: ['oidcc-session-management-certification-test-plan'],
    lacks: 'check_session_iframe',
    why: 'Browsers block the cookies that a frame of another site needs.',
  },
];
