import {
  byNginx,
  type FileName,
  type GatewayTargets,
  startGatewayTargets,
  withoutVerdict,
  withVerdict,
} from '../gateway-targets.ts';
import { onHttp2, onWrk } from '../loaded.ts';
import { type Loads, room, times } from '../work.ts';

type Passing = typeof withVerdict;

function passes(targets: GatewayTargets, pass: Passing, file: FileName): Loads {
  const ours = pass(targets, file);
  return {
    beside: [onWrk(byNginx(targets, file))],
    ways: { SQLite: onWrk(ours), 'HTTP/2': onHttp2(ours) },
  };
}

/** The gateway, beside nginx, which never checks tokens. */
export const GATEWAY = room(startGatewayTargets, [
  {
    name: 'Gateway, 1 KiB',
    goals: { nginx: times(4) },
    loads: (on) => passes(on, withoutVerdict, 'small'),
  },
  {
    name: 'Gateway, 1 KiB, Bearer seen',
    goals: { nginx: times(4.5) },
    loads: (on) => passes(on, withVerdict, 'small'),
  },
  {
    name: 'Gateway, 1 MiB',
    goals: { nginx: times(3) },
    loads: (on) => passes(on, withoutVerdict, 'large'),
  },
  {
    name: 'Gateway, 1 MiB, Bearer seen',
    goals: { nginx: times(3.5) },
    loads: (on) => passes(on, withVerdict, 'large'),
  },
]);
