/** What a customer has paid. */
export interface Payment {
  readonly customer: string;
  readonly amount: number;
}
