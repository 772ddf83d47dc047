import { type Log, silentLog } from '#shared/base/log.ts';
import { createErrors, type Errors } from './errors.ts';
import { WAYS } from './views/samples.fixture.ts';

/** Errors without reasons, as in production. */
export const errorsOf = (log: Log = silentLog): Errors =>
  createErrors({
    brand: { name: 'Countersign', color: '#1f5fbf' },
    log,
    development: false,
    ways: WAYS,
  });
