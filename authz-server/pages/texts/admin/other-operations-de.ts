import type { otherOperationsEn } from './other-operations-en.ts';

export const otherOperationsDe: typeof otherOperationsEn = {
  'key add': {
    title: 'Schlüssel für eine Anwendung anlegen',
    text: 'Die Anwendung bekommt einen API-Schlüssel für einen Realm, der einmal gezeigt wird, oder Sie geben die öffentliche Hälfte eines Schlüssels für Concealed an.',
    done: 'Der Schlüssel ist da. Ein API-Schlüssel wird nur dieses eine Mal gezeigt: bewahren Sie ihn jetzt auf.',
  },
  'key list': {
    title: 'Alle Schlüssel von Anwendungen',
    text: 'Zuerst API-Schlüssel, dann Schlüssel für Concealed, je nach Anwendung und Alter.',
  },
  'key rotate': {
    title: 'Einen API-Schlüssel ersetzen',
    text: 'Die Anwendung bekommt einen neuen Schlüssel, der einmal gezeigt wird. Der alte gilt noch so lange, wie Sie es sagen.',
    done: 'Der Schlüssel ist ersetzt. Der neue wird nur dieses eine Mal gezeigt: Bewahren Sie ihn jetzt auf.',
  },
  'key remove': {
    title: 'Einen Schlüssel einer Anwendung entfernen',
    text: 'Die nächste Anfrage mit dem Schlüssel wird abgelehnt. Das lässt sich nicht rückgängig machen.',
    done: 'Der Schlüssel ist entfernt.',
  },
  'signing-keys list': {
    title: 'Alle Signaturschlüssel',
    text: 'Die Signaturschlüssel, und der Zustand von jedem.',
  },
  'signing-keys rotate': {
    title: 'Einen Signaturschlüssel ersetzen',
    text: 'Ein neuer Schlüssel ersetzt den alten. Tokens gelten weiter, außer wenn andere den alten Schlüssel haben können: Dann enden alle seine Tokens sofort.',
    done: 'Der Signaturschlüssel ist ersetzt.',
  },
  'private-token keys': {
    title: 'Alle PrivateToken-Schlüssel',
    text: 'Die Schlüssel des PrivateToken-Ausstellers, und der Zustand von jedem.',
  },
  'private-token rotate': {
    title: 'Einen PrivateToken-Schlüssel ersetzen',
    text: 'Ein neuer Schlüssel ersetzt den alten vor der Zeit. Wenn andere die alten haben können, enden deren Tokens sofort.',
    done: 'Der PrivateToken-Schlüssel ist ersetzt.',
  },
  'revocation status': {
    title: 'Zustand der Widerrufe',
    text: 'Was ein Resource-Server erfahren würde, der jetzt anfängt.',
  },
  'token revoke': {
    title: 'Ein Access-Token widerrufen',
    text: 'Die nächste Anfrage mit dem Token wird abgelehnt. Das lässt sich nicht rückgängig machen.',
    done: 'Das Token ist widerrufen.',
  },
  'realm list': {
    title: 'Alle Bereiche',
    text: 'Die Bereiche und der Proxy: ihre URLs, und wie man sich anmeldet.',
  },
  'cache stats': {
    title: 'Zustand der Caches',
    text: 'Größe und Treffer jedes Caches, Prozess für Prozess.',
  },
  'cache purge': {
    title: 'Gespeicherte Antworten von Adressen entfernen',
    text: 'Alle gespeicherten Antworten dieser Adressen werden aus allen Caches entfernt.',
    done: 'Die Antworten sind entfernt.',
  },
  'cache ban': {
    title: 'Gespeicherte Antworten eines Bereichs entfernen',
    text: 'Gespeicherte Antworten eines Bereichs werden aus allen Caches entfernt, nach Pfad, Marke oder Status.',
    done: 'Die Antworten sind entfernt.',
  },
  'cache bans': {
    title: 'Alle Sperren (bans)',
    text: 'Die Sperren des letzten Tages, und wie viele Antworten jede entfernt hat.',
  },
  'audit list': {
    title: 'Aktivität',
    text: 'Was geändert wurde, das Neueste zuerst. Ereignisse der letzten Sekunde fehlen vielleicht noch.',
  },
  'server status': {
    title: 'Prozesse und Warnungen',
    text: 'Die Prozesse, die sich in der letzten Minute gemeldet haben, und Einstellungen, die wahrscheinlich ein Versehen sind.',
  },
};
