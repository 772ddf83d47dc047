import type { Lines } from '../../forwarding/fields.ts';

/** Why a request went forward (RFC 9211 section 2.2). */
export type Forwarded =
  | 'bypass'
  | 'method'
  | 'uri-miss'
  | 'vary-miss'
  | 'miss'
  | 'request'
  | 'stale'
  | 'partial';

/** How this cache handled a request (RFC 9211 section 2). `ttl`: in seconds, negative for a stale answer. */
export type Handling = {
  readonly ttl?: number | undefined;
  /** A token (RFC 9110 section 5.6.2). */
  readonly detail?: string | undefined;
} & (
  | { readonly hit: true }
  | {
      readonly hit: false;
      readonly fwd: Forwarded;
      /** The status of the application, if the client got another one. */
      readonly fwdStatus?: number | undefined;
      readonly stored?: boolean | undefined;
      readonly collapsed?: boolean | undefined;
    }
);

/** A member of Cache-Status for this cache, whose name is a token. */
export function statusMember(name: string, handling: Handling): string {
  const { ttl, detail } = handling;
  return [
    name,
    ...(handling.hit ? ['hit'] : forwarded(handling)),
    ...(ttl === undefined ? [] : [`ttl=${ttl}`]),
    ...(detail === undefined ? [] : [`detail=${detail}`]),
  ].join('; ');
}

function forwarded({
  fwd,
  fwdStatus,
  stored,
  collapsed,
}: Extract<Handling, { hit: false }>): readonly string[] {
  return [
    `fwd=${fwd}`,
    ...(fwdStatus === undefined ? [] : [`fwd-status=${fwdStatus}`]),
    ...(stored === true ? ['stored'] : []),
    ...(collapsed === undefined ? [] : [collapsed ? 'collapsed' : 'collapsed=?0']),
  ];
}

/** Adds this cache's member after those of the caches before (RFC 9211 section 2). */
export function withStatus(lines: Lines, member: string): Lines {
  return [...lines, ['Cache-Status', member]];
}
