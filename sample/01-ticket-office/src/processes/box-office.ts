/** A running ticket office, of one process or several. */
export interface BoxOffice {
  readonly url: string;
  close(): Promise<void>;
}
