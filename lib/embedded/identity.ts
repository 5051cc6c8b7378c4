/** Who a caller has shown to be. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}
