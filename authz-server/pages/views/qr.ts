import { encode } from 'uqr';
import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';

/** Modules around the symbol (ISO/IEC 18004 section 5.3.8). */
const QUIET_ZONE = 4;

/** A QR code, black on white in any colour scheme. */
export function qr(text: string, label: string): Html {
  const { size, data } = encode(text, { border: QUIET_ZONE });
  const modules = data.flatMap((row, y) =>
    row.flatMap((on, x) => (on ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${modules.join('')}" fill="#000" />
  </svg>`;
}
