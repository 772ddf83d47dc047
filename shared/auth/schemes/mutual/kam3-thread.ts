import { serveTasks } from '#shared/base/thread.ts';
import { KAM3 } from './kam3.ts';

/** Serves the functions of kam3.ts, by algorithm, to kam3-threads.ts. */
serveTasks(
  Object.fromEntries(
    Object.entries(KAM3).flatMap(([name, { verifier, exchange }]) => [
      [`verifier ${name}`, verifier],
      [`exchange ${name}`, exchange],
    ]),
  ),
);
