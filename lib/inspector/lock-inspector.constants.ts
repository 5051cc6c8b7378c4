/** Token of the settings of the inspector. */
export const LOCK_INSPECTOR_SETTINGS: unique symbol = Symbol.for(
  'nestjs-interlock:inspector (import LockInspectorModule.forRoot())',
);

/** What the page sends with a request to release: no form of another site can. */
export const REQUESTED_WITH = 'nestjs-interlock';
