// How an order is doing, in the widget's languages; a status that a shop has made up itself stands as it is.
const STATUSES = ["pending", "processing", "on-hold", "completed", "cancelled", "refunded", "failed"];
const CALLED = {
  en: "Waiting for payment|Processing|On hold|Completed|Cancelled|Refunded|Failed",
  it: "In attesa di pagamento|In lavorazione|In sospeso|Completato|Annullato|Rimborsato|Non riuscito",
  de: "Zahlung ausstehend|In Bearbeitung|In Wartestellung|Abgeschlossen|Storniert|Erstattet|Fehlgeschlagen",
  fr: "En attente de paiement|En cours|En attente|Terminée|Annulée|Remboursée|Échouée",
  es: "Pendiente de pago|En proceso|En espera|Completado|Cancelado|Reembolsado|Fallido",
  pt: "Pagamento pendente|Em processamento|Em espera|Concluído|Cancelado|Reembolsado|Falhou",
  nl: "Wacht op betaling|In behandeling|In de wacht|Afgerond|Geannuleerd|Terugbetaald|Mislukt",
  ar: "في انتظار الدفع|قيد المعالجة|قيد الانتظار|مكتمل|ملغي|مسترد|فشل",
  he: "ממתין לתשלום|בטיפול|בהשהיה|הושלם|בוטל|הוחזר|נכשל",
};

export const statusIn = (status, language) => (CALLED[language] ?? CALLED.en).split("|")[STATUSES.indexOf(status)] ?? status.replaceAll("-", " ");
