import type { Config } from '#shared/config/schema.ts';
import { FINISH_METHODS, INTERACTION_START_MODES } from './interaction.ts';
import { SUBJECT_FORMATS } from './subject.ts';

type Settings = Pick<Config, 'issuer' | 'gnap'>;

const keyProofs = ({ gnap }: Settings) => ['httpsig', ...(gnap?.mtls ? ['mtls'] : [])];

/** Describes this server for clients (RFC 9635 section 9). */
export const discovery = (config: Settings) => ({
  grant_request_endpoint: `${config.issuer}/gnap`,
  interaction_start_modes_supported: INTERACTION_START_MODES,
  interaction_finish_methods_supported: FINISH_METHODS,
  key_proofs_supported: keyProofs(config),
  ...SUBJECT_FORMATS,
  key_rotation_supported: true,
});

/** Describes this server for resource servers (RFC 9767 section 3.1). */
export const resourceServerDiscovery = (config: Settings) => ({
  grant_request_endpoint: `${config.issuer}/gnap`,
  introspection_endpoint: `${config.issuer}/gnap/introspect`,
  token_formats_supported: ['jwt-signed'],
  key_proofs_supported: keyProofs(config),
});
