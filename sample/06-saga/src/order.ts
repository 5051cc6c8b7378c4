export interface Order {
  readonly item: string;
  readonly customer: string;
  readonly price: number;
}
