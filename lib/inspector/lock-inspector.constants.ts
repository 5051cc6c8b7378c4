/** Token of the settings of the inspector. */
export const LOCK_INSPECTOR_SETTINGS: unique symbol = Symbol.for(
  'nestjs-interlock:inspector (import LockInspectorModule.forRoot())',
);

/** Of the id of a participant in an election, which may be long, so many characters are shown. */
export const SHOWN_OF_PARTICIPANT = 200;

/** What the page sends with a request to release: no form of another site can. */
export const REQUESTED_WITH = 'nestjs-interlock';
