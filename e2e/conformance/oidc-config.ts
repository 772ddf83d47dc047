import { type Plan, warning } from './plan.ts';

export const OIDC_CONFIG = {
  name: 'oidcc-config-certification-test-plan',
  title: 'OpenID Connect: Config',
  variant: { server_metadata: 'discovery', client_registration: 'static_client' },
  modules: {
    'oidcc-discovery-endpoint-verification': warning(
      'the metadata and the keys have what OpenID Connect Discovery requires',
      'the member `revocations_endpoint` is ours, and the suite does not know it',
    ),
  },
} as const satisfies Plan;
